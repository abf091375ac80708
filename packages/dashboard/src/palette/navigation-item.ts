/** A page in the navigation, with a function that opens it. */
export type NavigationItem = { readonly label: string; readonly open: () => void };
