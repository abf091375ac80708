import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { visitByEvalTransport } from '../../cli/test/generated-bots/eval-visit.ts';
import { listLiveFiles, readLiveFile } from '../../runtime/test/list-live-files.ts';
import { deployPipecatBot } from '../../server/test/python-bots.ts';
import { dumpDatabase } from '../../server/test/support/dump-database.ts';
import { createOperatorClient, testPassword } from '../../server/test/support/people.ts';
import type { TestServer } from '../../server/test/support/test-server.ts';
import { browserTest, launchBrowser } from './support/browser.ts';

const conversationBot = new URL('../../../runtimes/python/tests/conversation_bot.py', import.meta.url);
const agentName = 'discreet';
const redact = ['card', 'iban', 'email', 'phone', '/C-[0-9]{6}/'];
const settings = { websocketAuth: 'none', conversation: { level: 'transcript', redact } } as const;
/** What the caller types, and what may be left of it. */
const personal = {
  '4111 1111 1111 1111': '[card]',
  'DE89 3704 0044 0532 0130 00': '[iban]',
  'ada@example.com': '[email]',
  '+49 30 901820': '[phone]',
  'C-204711': '[redacted]',
  'Ms. Miller': '[name]',
};
const phrase = `I am ${Object.keys(personal).join(' and ')}, thanks`;
const redacted = `I am ${Object.values(personal).join(' and ')}, thanks`;
const findPersonal = (text: string) => Object.keys(personal).filter((part) => text.includes(part));

/** Returns the bot of the tests of the Python host, which says again what the caller types, with a function `redact`. */
async function readBot(): Promise<string> {
  let text = await readFile(conversationBot, 'utf8');
  for (const [before, after] of [
    [
      'transport_params = {\n',
      'transport_params = {\n    "eval": lambda: EvalTransportParams(audio_out_enabled=True),\n',
    ],
    ['import asyncio\n', 'import asyncio\nfrom pipecat.evals.transport import EvalTransportParams\n'],
    ['    body = args.body\n', '    body = {"says": [], "turns": "voice", "metrics": True}\n'],
    [
      '    async def play() -> None:\n        await ears.play()\n        await worker.queue_frames([EndFrame()])\n',
      `    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport: Any, _client: Any) -> None:
        await worker.cancel()

    async def play() -> None:
        pass
`,
    ],
  ] as const) {
    expect(text).toContain(before);
    text = text.replace(before, after);
  }
  // The source must not contain what is searched for.
  const redaction = 'def redact(text: str) -> str:\n    return re.sub(r"Ms[.] [A-Z][a-z]+", "[name]", text)\n';
  return `${text}\n\nimport re\n\n\n${redaction}`;
}

/** Defines the test of redaction, with a service that has deployed another bot with the same packages. */
export function defineRedactionTest(getService: () => TestServer): void {
  browserTest(
    'personal data that a caller types is in no file, database, log, API response and page, but what replaces it is',
    async () => {
      const service = getService();
      const browser = await launchBrowser(null);
      onTestFinished(() => browser.close());
      const params = { agentName };
      await deployPipecatBot(service, agentName, await readBot(), settings);

      const socket = `${service.url.replace('http', 'ws')}/ws/generic/${agentName}.${service.organization}`;
      const visit = visitByEvalTransport(socket, phrase);
      const readFiles = async (directory: string) =>
        (await Promise.all((await listLiveFiles(join(service.dataDirectory, directory))).map(readLiveFile))).map(
          (bytes) => bytes.toString('latin1'),
        );
      const findStored = async () => {
        const entries = await readdir(service.dataDirectory, { withFileTypes: true });
        // The environment and the download cache have only the packages of the bot.
        const directories = entries.filter(
          (entry) => entry.isDirectory() && !['environments', 'caches'].includes(entry.name),
        );
        const found: string[] = [];
        for (const { name } of directories) found.push(...(await readFiles(name)).flatMap(findPersonal));
        return found;
      };
      // The bot's own file, while the call runs.
      await expect.poll(async () => (await readFiles('instances')).join(), { interval: 200 }).toContain(redacted);
      expect(await findStored()).toEqual([]);
      await visit;
      const { sessions } = await service.client.getSessions({ params });
      const { sessionId = '' } = sessions[0] ?? {};

      const read = () => service.client.getSessionConversation({ params: { agentName, sessionId }, query: {} });
      await expect.poll(async () => (await read()).state).toBe('complete');
      const said = (await read()).lines.flatMap((line) => (line.kind === 'said' && line.turn > 0 ? [line.text] : []));
      expect(said).toEqual([redacted, `You said ${redacted}. I answer you in full.`]);
      expect(findPersonal(JSON.stringify(await read()))).toEqual([]);
      expect(await findStored()).toEqual([]);
      const { logs } = await service.client.getLogs({ params, query: { sessionId, limit: 1_000 } });
      expect(logs.length).toBeGreaterThan(0);
      expect(findPersonal(JSON.stringify(logs))).toEqual([]);
      expect(findPersonal(await dumpDatabase(service.database.address))).toEqual([]);

      const operator = await createOperatorClient(service);
      const invitation = { organization: service.organization, role: 'owner', email: 'ada@example.org' } as const;
      const page = await browser.newPage();
      await page.goto((await operator.createOperatorInvitation({ body: invitation })).url);
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('Password').fill(testPassword);
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.waitForURL(`${service.url}/orgs/${service.organization}`);
      await page.goto(`${service.url}/orgs/${service.organization}/sessions/${sessionId}`);
      await page.getByRole('listbox', { name: 'Transcript' }).getByText(redacted, { exact: true }).waitFor();
      expect(findPersonal((await page.locator('html').textContent()) ?? '')).toEqual([]);
    },
    600_000,
  );
}
