/** A directory on disk, in a browser, or in an archive. */
export type Folder = { readonly list: () => Promise<readonly FolderEntry[]> };

/** An entry of a directory. `read` returns the content in chunks. For a link, it returns the content of the link's target. */
export type FolderEntry = { readonly name: string } & (
  | ({ readonly kind: 'folder' } & Folder)
  | ({ readonly kind: 'file'; readonly size: () => Promise<number> } & Readable)
  | ({ readonly kind: 'link'; readonly resolve: () => Promise<ResolvedSymbolicLink> } & Readable)
  /** An entry that cannot be packed. `problem` says why. */
  | { readonly kind: 'unsupported'; readonly problem: string }
);

type Readable = { readonly read: () => AsyncIterable<Uint8Array> };

export type ResolvedSymbolicLink = {
  /** The target path exactly as it is stored in the link. */
  readonly target: string;
  /** The path of the link's target, relative to the project. */
  readonly projectPath: string;
  /** Why the link cannot be packed, or null if it can be packed. */
  readonly problem: string | null;
};

/** Reads a file of a directory as UTF-8. Returns null if it does not exist. */
export async function readTextFile(entries: readonly FolderEntry[], name: string): Promise<string | null> {
  const entry = entries.find((one) => one.name === name);
  if (entry === undefined || entry.kind === 'folder' || entry.kind === 'unsupported') return null;
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of entry.read()) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
