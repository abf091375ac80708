import { formatMegabytes } from '../figure.ts';
import { findProcessTree, readProportionalSetBytes } from '../process-usage.ts';
import { mean } from '../quantile.ts';
import { startStandaloneBot } from './by-hand.ts';
import { createHostedBotCallUrl, createStandaloneBotCallUrl, waitForIdleService } from './calls.ts';
import { listOpenInstances, readInstanceMemoryBytes, scaleAgent } from './instances.ts';
import { callBotByPhone } from './phone-call.ts';
import { synthesizeSpeech } from './speech.ts';
import { forked, type VoiceBenchContext } from './voice-bench.ts';

const count = 10;
/** Goals in bytes for the memory of an idle instance and of an instance in a conversation. */
const [idleGoal, conversationGoal] = [25e6, 110e6];

/** Measures the memory of warm instances. Memory that several processes share counts proportionally. */
export async function measureIdleMemory({ service, byHandOptions, report }: VoiceBenchContext): Promise<void> {
  await scaleAgent(service, forked, count);
  await waitForIdleService(service, count);
  const instances = await listOpenInstances(service, forked);
  const ours = mean(await Promise.all(instances.map(({ id }) => readInstanceMemoryBytes(service, id))));
  const bot = await startStandaloneBot(byHandOptions);
  const byHand = await readProportionalSetBytes(await findProcessTree(bot.pid));
  await bot.stop();
  report({
    what: `memory of an idle warm instance, ${count} of them`,
    ours: formatMegabytes(ours),
    reference: `${formatMegabytes(byHand)} a process by hand, goal ${formatMegabytes(idleGoal)}`,
    ratio: ours / idleGoal,
    limit: { most: 1 },
  });
}

/** Measures the memory of instances that have greeted a caller and are answering a question. */
export async function measureConversationMemory({
  service,
  byHand,
  byHandOptions,
  report,
}: VoiceBenchContext): Promise<void> {
  const question = await synthesizeSpeech(byHandOptions.interpreter, 'What is the capital of France?');
  await waitForIdleService(service, count);
  const ours = await converse(createHostedBotCallUrl(service), question, async () => {
    const instances = (await listOpenInstances(service, forked)).filter(({ sessionId }) => sessionId !== null);
    return mean(await Promise.all(instances.map(({ id }) => readInstanceMemoryBytes(service, id))));
  });
  await waitForIdleService(service, count);
  const together = await converse(createStandaloneBotCallUrl(byHand), question, async () =>
    readProportionalSetBytes(await findProcessTree(byHand.pid)),
  );
  report({
    what: `memory of an instance in a conversation, ${count} of them`,
    ours: formatMegabytes(ours),
    reference: `${formatMegabytes(together / count)} by hand, a ${count}th of the process, goal ${formatMegabytes(conversationGoal)}`,
    ratio: ours / conversationGoal,
    limit: { most: 1 },
  });
}

/** Makes simultaneous calls, asks a question in each, and calls `measure` while the bots are answering. */
async function converse(url: string, question: Buffer, measure: () => Promise<number>): Promise<number> {
  const calls = await Promise.all(Array.from({ length: count }, () => callBotByPhone(url)));
  await Promise.all(calls.map((call) => call.ask(question)));
  const measured = await measure();
  await Promise.all(calls.map((call) => call.hangUp()));
  return measured;
}
