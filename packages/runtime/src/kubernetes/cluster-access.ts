/** What a request needs besides its address. `token` is sent as a bearer token, `cert` and `key` are a client certificate in PEM. */
export type ClusterCredentials = {
  /** Authorities in PEM, one of which must have signed the API server's certificate. Undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
};

/** How to reach an API server. */
export type ClusterAccess = {
  readonly server: URL;
  /** The namespace that the credentials are for. Null if there is none. */
  readonly namespace: string | null;
  /** The name in the API server's certificate, if it is not the host of `server`. */
  readonly tlsServerName: string | undefined;
  readonly skipsVerification: boolean;
  /** Returns the rotating credentials. Reads them again if they have expired, or if the API server refused them. */
  readonly readCredentials: (refused: ClusterCredentials | null) => Promise<ClusterCredentials>;
};

/** Returns a function that calls `load` again only when its last result has expired or was refused. Concurrent calls share one. */
export function cacheCredentials(
  load: () => Promise<{ readonly credentials: ClusterCredentials; readonly expiresAt: Date | null }>,
  now: () => Date,
): ClusterAccess['readCredentials'] {
  let last = load();
  return async (refused) => {
    const earlier = last;
    const known = await earlier.catch(() => null);
    const isUsable =
      known !== null && known.credentials !== refused && (known.expiresAt === null || known.expiresAt > now());
    if (!isUsable && last === earlier) last = load();
    return (await last).credentials;
  };
}
