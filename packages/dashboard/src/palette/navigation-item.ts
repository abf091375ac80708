export type NavigationItem = { readonly label: string; readonly open: () => void };
