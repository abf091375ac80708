/** Declares the type of imports with `?raw`. The build replaces each such import with the text of the imported file. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: Vite exports the text as the default
  export default text;
}
