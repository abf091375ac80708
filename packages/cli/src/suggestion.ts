/** What a word of a command line may become, and what that means; the meaning may be empty. */
export type Suggestion = { readonly word: string; readonly meaning: string };
