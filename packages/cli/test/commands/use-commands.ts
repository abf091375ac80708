import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, type ReceivedRequest, startFakeService } from '../fake-service/fake-service.ts';
import { operatorToken, privateKey, publicKey } from '../fake-service/records.ts';
import { type ProgramOutcome, type RunOptions, runProgram } from '../run-program.ts';

type Texts = string | RegExp | readonly (string | RegExp)[];
type Request = ReceivedRequest['operation'] | Partial<ReceivedRequest>;

/** What one command line does. Fields that are absent are not checked, except `status`. */
export type Expectation = {
  /** The exit status. Default: 0. */
  readonly status?: number;
  /** Texts in standard output. */
  readonly stdout?: Texts;
  readonly wholeStdout?: string;
  /** Texts in standard error. */
  readonly stderr?: Texts;
  readonly wholeStderr?: string;
  /** Texts that are in neither. */
  readonly hides?: Texts;
  /** Some fields of the JSON document in standard output. */
  readonly json?: object;
  readonly wholeJson?: object;
  /** All requests of the command: for each, its operation or some of its fields. */
  readonly requests?: readonly Request[];
  readonly lastRequest?: Request;
};

/** A row of a table of command lines. */
export type CommandRow = readonly [line: string | readonly string[], expected: Expectation, given?: RunOptions];

export type Commands<Service extends FakeService> = {
  readonly service: Service;
  /** The working directory of the commands, which is also the directory of their profile. */
  readonly directory: string;
  readonly profile: string;
  readonly run: (
    line: string | readonly string[],
    expected?: Expectation | null,
    given?: RunOptions,
  ) => Promise<ProgramOutcome>;
  /** Defines a test for each row. */
  readonly table: (rows: readonly CommandRow[]) => void;
};

/**
 * Runs commands that begin with the words `prefix` against a fake service, which is started for each test. All commands get the
 * environment variables of the service, its key and the profile, and `variables`.
 */
export function useCommands<Service extends FakeService>(
  prefix: string,
  start: () => Promise<Service>,
  variables: Readonly<Record<string, string>> = {},
): Commands<Service> {
  let service: Service;
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'botcli-'));
    service = await start();
  });
  afterEach(async () => {
    await service.close();
    await rm(directory, { recursive: true, force: true });
  });
  const commands: Commands<Service> = {
    get service() {
      return service;
    },
    get directory() {
      return directory;
    },
    get profile() {
      return join(directory, '.botcli', 'config.toml');
    },
    run: async (line, expected = null, given = {}) => {
      const before = service.requests.length;
      const outcome = await runProgram([...split(prefix), ...split(line)], {
        directory,
        ...given,
        variables: {
          BOTCLI_API_URL: service.origin,
          BOTCLI_TOKEN: privateKey,
          BOTCLI_CONFIG: commands.profile,
          ...variables,
          ...given.variables,
        },
      });
      if (expected !== null) expectOutcome(outcome, service.requests.slice(before), expected);
      return outcome;
    },
    table: (rows) => {
      test.each(rows.map((row) => [nameRow(prefix, row), row] as const))('%s', async (_, [line, expected, given]) => {
        await commands.run(line, expected, given);
      });
    },
  };
  return commands;
}

/** Starts a fake service with the keys that `useCommands` and the tests of the operator's commands use. */
export function startServiceWith(...answers: Tail<Parameters<typeof startFakeService>>): Promise<FakeService> {
  return startFakeService({ privateKey, publicKey, operatorToken }, ...answers);
}

type Tail<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

function split(line: string | readonly string[]): readonly string[] {
  return typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
}

function nameRow(prefix: string, [line, { status = 0, ...expected }]: CommandRow): string {
  const [text = ''] = [expected.stderr ?? expected.stdout ?? []].flat();
  const words = ['botcli', ...split(prefix), ...split(line)].join(' ').slice(0, 100);
  return `${words} exits with ${status}${text === '' ? '' : ` and prints ${String(text)}`}`;
}

function expectOutcome(outcome: ProgramOutcome, requests: readonly ReceivedRequest[], expected: Expectation): void {
  const { status, stdout, stderr } = outcome;
  expect(status, `${stdout}${stderr}`).toBe(expected.status ?? 0);
  for (const text of listTexts(expected.stdout)) expectText(stdout, text);
  for (const text of listTexts(expected.stderr)) expectText(stderr, text);
  if (expected.wholeStdout !== undefined) expect(stdout).toBe(expected.wholeStdout);
  if (expected.wholeStderr !== undefined) expect(stderr).toBe(expected.wholeStderr);
  for (const text of listTexts(expected.hides)) {
    if (typeof text === 'string') expect(stdout + stderr).not.toContain(text);
    else expect(stdout + stderr).not.toMatch(text);
  }
  if (expected.json !== undefined) expect(JSON.parse(stdout)).toMatchObject(expected.json);
  if (expected.wholeJson !== undefined) expect(JSON.parse(stdout)).toEqual(expected.wholeJson);
  if (expected.requests !== undefined) {
    expect(requests).toEqual(expected.requests.map(toRequestMatcher));
  }
  if (expected.lastRequest !== undefined) expect(requests.at(-1)).toEqual(toRequestMatcher(expected.lastRequest));
}

function toRequestMatcher(request: Request) {
  return expect.objectContaining(typeof request === 'string' ? { operation: request } : request);
}

function listTexts(texts: Texts | undefined): readonly (string | RegExp)[] {
  return texts === undefined ? [] : [texts].flat();
}

function expectText(actual: string, text: string | RegExp): void {
  if (typeof text === 'string') expect(actual).toContain(text);
  else expect(actual).toMatch(text);
}
