/** An error that a bot reported one or more times. */
export type BotError = {
  /** The class of the Pipecat service that failed, such as `DeepgramSTTService`. Null if the message does not name one. */
  readonly service: string | null;
  readonly message: string;
  readonly count: number;
};

const errorsAtMost = 20;
/** The name of a Pipecat processor with its number, such as `DeepgramSTTService#0`. */
const serviceName = /\b([A-Z]\w*(?:Service|Processor|Transport|Realtime\w*|Live\w*))(?:#\d+)?\b/;

/** Adds an error, or counts it if the same error was reported before. Keeps the newest errors. */
export function addBotError(errors: readonly BotError[], text: string): readonly BotError[] {
  const service = serviceName.exec(text)?.[1] ?? null;
  const isFromService = service !== null && text.startsWith(service);
  const message = (isFromService && text.replace(/^\w+(?:#\d+)?(?: (?:error|exception))?:\s+/, '')) || text;
  const isSame = (error: BotError) => error.service === service && error.message === message;
  if (!errors.some(isSame)) return [...errors, { service, message, count: 1 }].slice(-errorsAtMost);
  return errors.map((error) => (isSame(error) ? { ...error, count: error.count + 1 } : error));
}

const nextSteps: readonly (readonly [pattern: RegExp, next: string])[] = [
  [
    /\b40[13]\b|unauthori[sz]ed|authenticat|api.?key|wrong key|forbidden|permission/i,
    "Check the service's key in the secrets of the agent, and deploy again.",
  ],
  [
    /\b4(?:02|29)\b|rate.?limit|quota|billing|insufficient|credit/i,
    'Check the limits and the balance of your account at the service.',
  ],
  [
    /\b4(?:00|04|22)\b|not.?found|invalid|unsupported|does not exist/i,
    'Check the model, the voice and the other settings of the service in the code of the bot, and deploy again.',
  ],
  [
    /\b5\d\d\b|time.?d?.?out|connect|network|overloaded|unavailable|resolve/i,
    'Start again. If it happens repeatedly, check the status page of the service.',
  ],
];

/** Says what to do about the errors of one service. */
export function suggestNextStep(errors: readonly BotError[]): string {
  const found = nextSteps.find(([pattern]) => errors.some(({ message }) => pattern.test(message)));
  return found?.[1] ?? 'Read the log of the session.';
}
