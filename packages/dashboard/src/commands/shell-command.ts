import {
  fillPathTemplate,
  listOperationPaths,
  type OperationName,
  operations,
  quoteShellWord,
} from '@bothost/contract';

/** Returns the `botcli` command for an action in an organization. Null: the organization of the login. */
export function formatCloudCommand(organization: string | null, ...words: readonly string[]): string {
  return formatBotcliCommand('cloud', ...words, ...(organization === null ? [] : ['--organization', organization]));
}

export function formatBotcliCommand(...words: readonly string[]): string {
  return ['botcli', ...words].map(quoteShellWord).join(' ');
}

type ApiRequest = {
  readonly origin: string;
  readonly organization?: string;
  readonly params?: Readonly<Record<string, string>>;
  /** Query parameters of the request. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
};

/** The `curl` command for an operation without a `botcli` command. `curl` reads the token from `BOTCLI_TOKEN`. */
export function formatCurlCommand(name: OperationName, request: ApiRequest): string {
  const { origin, organization = '', params, query = {}, body } = request;
  const operation = operations[name];
  const url = new URL(
    origin + fillPathTemplate(listOperationPaths(operation).at(-1) ?? '', { ...params, organization }),
  );
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  const data =
    body === undefined
      ? []
      : ['-H', quoteShellWord('Content-Type: application/json'), '-d', quoteShellWord(JSON.stringify(body))];
  return [
    'curl',
    '-X',
    operation.method,
    '-H',
    '"Authorization: Bearer $BOTCLI_TOKEN"',
    ...data,
    quoteShellWord(url.href),
  ].join(' ');
}
