/** A page of the navigation, and how to open it. */
export type NavigationPage = { readonly label: string; readonly open: () => void };
