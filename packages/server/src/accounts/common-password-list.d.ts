/** Declares the types of `fxa-common-password-list`, which includes none. */
declare module 'fxa-common-password-list' {
  const commonPasswords: {
    /** Whether a password is one of the most common ones. False positives are rare, false negatives impossible. */
    test(password: string): boolean;
  };
  export = commonPasswords;
}
