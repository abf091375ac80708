/** The package's version (a test compares them); a constant, so that `--version` reads no file. */
export const version = '0.1.0';
