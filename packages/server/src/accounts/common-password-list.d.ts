/** Declares the types of the package `fxa-common-password-list`, because the package contains no type declarations. */
declare module 'fxa-common-password-list' {
  const commonPasswords: {
    /** Whether a password is on the list of common passwords. False positives are rare, false negatives impossible. */
    test(password: string): boolean;
  };
  export = commonPasswords;
}
