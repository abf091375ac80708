import type { AnswerUrl, PhoneCall, PhoneCarrier } from '@bothost/contract';
import { phoneCarrierTraits } from '@bothost/contract/phone-carriers';
import type { CommandContext } from '../command-line/context.ts';
import { formatTime } from '../output/format.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { watchFirstCall } from './watch-first-call.ts';

export type PhoneRequest = {
  readonly agentName: string;
  readonly carrier: PhoneCarrier | undefined;
  readonly shouldWatch: boolean;
  /** Whether to replace the secrets in the URLs first. */
  readonly shouldRotate: boolean;
};

/**
 * Shows what to enter at the carriers. If it should watch, waits for the first call.
 *
 * @throws Failure `phone-call-refused`, `phone-call-failed`
 */
export async function showPhone(context: CommandContext, request: PhoneRequest): Promise<CommandReport> {
  const { agentName, carrier, shouldWatch, shouldRotate } = request;
  const client = await context.service();
  const params = { agentName };
  const all = await (shouldRotate ? client.rotateAnswerUrls({ params }) : client.listAnswerUrls({ params }));
  const answerUrls = all.answerUrls.filter((one) => carrier === undefined || one.carrier === carrier);
  const setup = [...answerUrls.map(describeCarrier), ...warnAboutHost(answerUrls)];
  if (!shouldWatch) {
    const command = `botcli cloud phone ${agentName}${carrier === undefined ? '' : ` --carrier ${carrier}`} --watch`;
    const next: CommandReportBlock = { kind: 'note', lines: [`To check the first call, run: ${command}`] };
    return { json: { answerUrls }, blocks: [...setup, next] };
  }
  await context.messages.show(...setup);
  const call = await watchFirstCall(context, client, request);
  return { json: { answerUrls, call }, blocks: [describeCall(call)] };
}

function describeCarrier({ carrier, url, isReady }: AnswerUrl): CommandReportBlock {
  const { label, place, credential } = phoneCarrierTraits[carrier];
  return {
    kind: 'fields',
    title: label,
    fields: [
      ['Answer URL', { text: url, tone: 'strong' }],
      ['Enter it at', place],
      [
        'Status',
        isReady
          ? { text: 'ready', tone: 'good' }
          : { text: `store the ${credential?.name} first: botcli cloud phone connect ${carrier}`, tone: 'warn' },
      ],
    ],
  };
}

/** Warns about URLs without TLS, which carriers do not accept. Usually, BOTHOST_PUBLIC_URL is not set. */
function warnAboutHost([first]: readonly AnswerUrl[]): readonly CommandReportBlock[] {
  if (first === undefined || first.url.startsWith('https://')) return [];
  const line =
    'Carriers cannot reach these URLs: they must begin with https. The operator of the service sets their host with BOTHOST_PUBLIC_URL.';
  return [{ kind: 'note', lines: [line] }];
}

function describeCall({ carrier, at, sessionId }: PhoneCall): CommandReportBlock {
  return {
    kind: 'fields',
    title: 'The call reached the bot',
    fields: [
      ['Carrier', phoneCarrierTraits[carrier].label],
      ['Time', formatTime(at)],
      ['Session', sessionId ?? ''],
    ],
  };
}
