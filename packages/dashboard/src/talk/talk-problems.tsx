import { useQuery } from '@tanstack/react-query';
import { Alert } from '../components/alert.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { type BotError, suggestNextStep } from './bot-errors.ts';
import { findException } from './find-exception.ts';
import { lastLinesQuery } from './queries.ts';
import type { SessionAccess } from './session-access.ts';
import type { TalkState } from './talk-state.ts';
import { formatTransports, getTransportLabel, type TransportName } from './transport-names.ts';

type TalkProblemsProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  readonly acceptedTransports: readonly string[] | null;
  readonly transport: TransportName;
  readonly state: TalkState;
};

/** Shows why a conversation failed, the errors that the bot reported, grouped by service, and what to do. */
export function TalkProblems({ agent, access, acceptedTransports, transport, state }: TalkProblemsProps) {
  const { phase, sessionId, error, botErrors, videoProblem } = state;
  const organization = 'organization' in access ? access.organization : undefined;
  const canReadLog = phase === 'failed' && organization !== undefined && sessionId !== undefined;
  const log = useQuery({ ...lastLinesQuery(organization ?? '', agent, sessionId ?? ''), enabled: canReadLog });
  const lines = log.data ?? [];
  const exception = findException(lines);
  const isOtherTransport = phase === 'failed' && acceptedTransports?.includes(transport) === false;
  return (
    <>
      {(error !== undefined || botErrors.length > 0) && (
        <Alert>
          <div className="flex flex-col gap-3">
            {error !== undefined && <p className="font-medium">{error}</p>}
            {exception !== null && (
              <p>
                The bot raised <code className="font-mono text-[0.8125rem] wrap-anywhere">{exception}</code>
              </p>
            )}
            {isOtherTransport && (
              <p className="text-foreground">
                The bot accepts {formatTransports(acceptedTransports)}, not {getTransportLabel(transport)}.
              </p>
            )}
            {[...new Set(botErrors.map(({ service }) => service))].map((service) => (
              <ServiceErrors
                key={service}
                service={service}
                errors={botErrors.filter((one) => one.service === service)}
              />
            ))}
          </div>
        </Alert>
      )}
      {videoProblem !== undefined && <Alert>{videoProblem}</Alert>}
      {lines.length > 0 && (
        <details open={exception !== null} className="text-sm">
          <summary className="cursor-pointer text-quiet">The last lines that the bot logged</summary>
          <TextBlock label="Last lines of the bot" text={lines.join('\n')} startsAtEnd />
        </details>
      )}
      <MicrophoneProblem microphone={state.microphone} />
    </>
  );
}

type ServiceErrorsProps = { readonly service: string | null; readonly errors: readonly BotError[] };

function ServiceErrors({ service, errors }: ServiceErrorsProps) {
  return (
    <div className="flex flex-col gap-1">
      <p className="font-medium">{service === null ? 'The bot reported' : `${service} reported`}</p>
      <ul className="flex flex-col gap-1">
        {errors.map(({ message, count }) => (
          <li key={message} className="wrap-anywhere">
            {message}
            {count > 1 && ` (${count} times)`}
          </li>
        ))}
      </ul>
      <p className="text-foreground">{suggestNextStep(errors)}</p>
    </div>
  );
}

function MicrophoneProblem({ microphone }: Pick<TalkState, 'microphone'>) {
  if (microphone === 'none')
    return <p className="text-quiet text-sm">No microphone found. The bot cannot hear you, but you can type.</p>;
  if (microphone !== 'denied') return null;
  return (
    <p className="text-quiet text-sm">
      The browser blocks the microphone for this page, so the bot cannot hear you, but you can type. To allow it, open
      the site settings beside the address of the page, and start again.
    </p>
  );
}
