/** A page in the navigation, with a function that opens it. */
export type NavigationPage = { readonly label: string; readonly open: () => void };
