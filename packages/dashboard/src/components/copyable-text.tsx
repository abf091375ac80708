import { CopyButton } from './copy-button.tsx';
import { UnbrokenWords } from './unbroken-words.tsx';

type CopyableTextProps = {
  readonly text: string;
  /** A noun for the text, such as `command`, which the label of the copy button contains. */
  readonly name: string;
};

/** Shows a key, a link or a command, with a button that copies it. Wraps long text, so that people can also select all of it. */
export function CopyableText({ text, name }: CopyableTextProps) {
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-background p-2">
      <code className="min-w-0 flex-1 px-1 py-1.5 font-mono text-[0.8125rem] leading-5 wrap-anywhere">
        <UnbrokenWords text={text} />
      </code>
      <CopyButton text={text} label={`Copy the ${name}`} />
    </div>
  );
}
