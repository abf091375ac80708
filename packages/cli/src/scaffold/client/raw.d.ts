/** Declares imports with `?raw`, which the build inserts as strings. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: Vite exports the text as the default
  export default text;
}
