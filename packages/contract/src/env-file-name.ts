/**
 * Whether a path names `.env` or a variant such as `.env.local`, but not a sample. The service never gives these files to a bot,
 * because their variables would override those of the agent.
 */
export function isEnvFile(path: string): boolean {
  const name = path.split('/').at(-1) ?? '';
  return /^\.env(\..+)?$/i.test(name) && !/\.(example|sample|template|dist)$/i.test(name);
}
