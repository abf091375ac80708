import type { ApiClient, PhoneCall, PhoneCarrier } from '@bothost/contract';
import { phoneCarrierTraits } from '@bothost/contract/phone-carriers';
import { getSessionCompletionStatusLabel } from '@bothost/contract/statuses';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure } from '../failure.ts';

const pollMs = 1_000;

/**
 * Waits until a call has reached the bot, and returns it. Shows each step of the call. Refused calls of other agents are not shown,
 * but those with a wrong agent name are.
 *
 * @throws Failure `phone-call-refused`, `phone-call-failed`
 */
export async function watchFirstCall(
  context: CommandContext,
  client: ApiClient,
  { agentName, carrier }: { readonly agentName: string; readonly carrier: PhoneCarrier | undefined },
): Promise<PhoneCall> {
  const { io, messages, notify } = context;
  const list = async () => {
    const { calls } = await withRetries(context, () => client.listPhoneCalls({ params: { agentName } }, io.signal));
    return calls.filter((call) => carrier === undefined || call.carrier === carrier);
  };
  const earlier = new Set((await list()).map(({ id }) => id));
  const announced = new Set<string>();
  const wait = 'Waiting for a call. Call the number now; Ctrl-C ends.';
  if (!messages.isLive) notify(wait);
  for (;;) {
    messages.status(wait);
    await io.sleep(pollMs);
    for (const call of (await list()).filter(({ id }) => !earlier.has(id)).reverse()) {
      if (call.result === 'connected') return call;
      if (call.result !== 'answered') throw describeFailure(call);
      if (announced.has(call.id)) continue;
      announced.add(call.id);
      notify(`A call from ${phoneCarrierTraits[call.carrier].label} was answered. Waiting for its audio and the bot.`);
    }
  }
}

function describeFailure({ carrier, result, reason, message, sessionId }: PhoneCall): Failure {
  const { label } = phoneCarrierTraits[carrier];
  if (result === 'refused')
    return new Failure('phone-call-refused', `The call from ${label} was refused. ${message ?? reason}`);
  const cause = reason === null ? 'the session has ended' : getSessionCompletionStatusLabel(reason);
  return new Failure(
    'phone-call-failed',
    `The call from ${label} was answered, but did not reach the bot: ${cause}.`,
    `Its session is ${sessionId}. If no client connected, the carrier cannot open WebSockets to the service: check the reverse proxy.`,
  );
}
