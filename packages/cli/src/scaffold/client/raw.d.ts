/** Files that the build takes in as texts. */
declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: this is how the build gives a text
  export default text;
}
