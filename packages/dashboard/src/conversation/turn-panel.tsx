import type { ConversationLineOf } from '@bothost/contract';
import { ChevronDown, ChevronUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';
import type { Turn } from './conversation.ts';
import { formatOffset, formatResponseTime } from './offset.ts';
import { Waterfall } from './waterfall.tsx';
import { capitalize, describeUsage, getTurnName, toolStateNames } from './words.ts';

type TurnPanelProps = {
  readonly turn: Turn;
  /** The address of the page at the beginning of the turn. */
  readonly link: string;
  readonly onPrevious: (() => void) | null;
  readonly onNext: (() => void) | null;
  readonly log: ReactNode;
};

/** Everything about one turn: how long the response took, tools, errors, usage and log lines. */
export function TurnPanel({ turn, link, onPrevious, onNext, log }: TurnPanelProps) {
  const { number, fromMs, toMs, isInterrupted, response, tools, errors, usage } = turn;
  return (
    <section aria-labelledby="selected-turn" className="flex min-w-0 flex-col lg:h-144">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-4 py-3 sm:px-5">
        <h3 id="selected-turn" className="font-semibold">
          {getTurnName(number)}
        </h3>
        <span className="text-quiet text-sm tabular-nums">
          {formatOffset(fromMs)} – {toMs === null ? 'now' : formatOffset(toMs)}
        </span>
        {isInterrupted && <Badge tone="danger">Interrupted</Badge>}
        <span className="ml-auto flex gap-2">
          <CopyButton text={link} label="Copy a link to this moment" />
          <Step label="Previous turn" keyName="K" icon={ChevronUp} onStep={onPrevious} />
          <Step label="Next turn" keyName="J" icon={ChevronDown} onStep={onNext} />
        </span>
      </div>
      <section
        aria-label="Details of the turn"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, keyboards cannot scroll the panel
        tabIndex={0}
        className="flex flex-1 flex-col gap-6 overflow-y-auto px-4 py-4 -outline-offset-2 sm:px-5"
      >
        <Part title="Response">
          {response === null ? (
            <p className="text-quiet text-sm">
              {toMs === null ? 'The bot has not answered yet.' : 'No response was measured in this turn.'}
            </p>
          ) : (
            <Waterfall response={response} />
          )}
        </Part>
        {errors.length > 0 && (
          <Part title="Errors">
            <ul className="flex flex-col gap-3">
              {errors.map((error, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: errors are only added at the end
                <li key={index}>
                  <ErrorOfTurn error={error} />
                </li>
              ))}
            </ul>
          </Part>
        )}
        {tools.length > 0 && (
          <Part title="Tools">
            <ul className="flex flex-col gap-3">
              {tools.map((tool) => (
                <li key={tool.id}>
                  <ToolOfTurn tool={tool} />
                </li>
              ))}
            </ul>
          </Part>
        )}
        {usage.length > 0 && (
          <Part title="Usage">
            <dl className="flex flex-col gap-2 text-sm">
              {usage.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: usage is only added at the end
                <div key={index} className="flex flex-wrap justify-between gap-x-4">
                  <dt className="min-w-0 wrap-anywhere">
                    {line.model ?? line.service} <span className="text-quiet text-xs">{line.role}</span>
                  </dt>
                  <dd className="text-quiet tabular-nums">{describeUsage(line)}</dd>
                </div>
              ))}
            </dl>
          </Part>
        )}
        <Part title="Log lines">{log}</Part>
      </section>
    </section>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-2.5">
      <h4 className="font-medium text-quiet text-xs uppercase tracking-wide">{title}</h4>
      {children}
    </div>
  );
}

type StepProps = {
  readonly label: string;
  readonly keyName: string;
  readonly icon: typeof ChevronUp;
  readonly onStep: (() => void) | null;
};

function Step({ label, keyName, icon: Icon, onStep }: StepProps) {
  return (
    <Button
      variant="outline"
      size="small"
      className="px-2"
      aria-label={label}
      aria-keyshortcuts={keyName}
      title={`${label} (${keyName})`}
      disabled={onStep === null}
      onClick={onStep ?? undefined}
    >
      <Icon aria-hidden="true" className="size-4" />
    </Button>
  );
}

function ToolOfTurn({ tool }: { readonly tool: ConversationLineOf<'tool'> }) {
  const { name, state, from, to, arguments: input, result, message } = tool;
  const isBad = state === 'failed' || state === 'timed-out';
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <code className="font-mono wrap-anywhere">{name}</code>
        <Badge tone={isBad ? 'danger' : state === 'running' ? 'accent' : 'neutral'}>{toolStateNames[state]}</Badge>
        <span className="ml-auto text-quiet tabular-nums">
          {formatOffset(from)}
          {to !== null && `, ${formatResponseTime(to - from)}`}
        </span>
      </p>
      {message !== undefined && <p className="text-danger text-sm wrap-anywhere">{stripControlCharacters(message)}</p>}
      {input !== undefined && <Payload name="Arguments" text={input} />}
      {result !== undefined && <Payload name="Result" text={result} />}
    </div>
  );
}

function Payload({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="text-quiet text-xs">{name}</span>
      <TextBlock label={name} text={formatJson(text)} className="max-h-40 py-2" />
    </div>
  );
}

/** Indents JSON. Returns other text, such as JSON that was cut, as it is. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return stripControlCharacters(text);
  }
}

function ErrorOfTurn({ error }: { readonly error: ConversationLineOf<'error'> }) {
  const { at, category, service, exceptionType, message, fatal = false } = error;
  return (
    <div className="flex flex-col gap-1 border-danger border-l-3 pl-3 text-sm">
      <p className="flex flex-wrap gap-x-3">
        <span className="font-medium text-danger">{capitalize(category)}</span>
        {service !== undefined && <span className="wrap-anywhere">{service}</span>}
        <span className="ml-auto text-quiet tabular-nums">{formatOffset(at)}</span>
      </p>
      {exceptionType !== undefined && (
        <code className="font-mono text-quiet text-xs wrap-anywhere">{exceptionType}</code>
      )}
      {message !== undefined && <p className="whitespace-pre-wrap wrap-anywhere">{stripControlCharacters(message)}</p>}
      {fatal && <p className="text-quiet">The bot ended because of this error.</p>}
    </div>
  );
}
