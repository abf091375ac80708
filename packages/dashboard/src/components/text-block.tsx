import { classNames } from './class-names.ts';

type TextBlockProps = {
  /** What the text is, for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly className?: string;
};

const classes =
  'max-h-80 overflow-auto rounded-lg border border-line bg-background p-3 font-mono text-[0.8125rem] whitespace-pre-wrap wrap-anywhere';

/** Text of any length in a frame, which keyboards scroll, too. */
export function TextBlock({ label, text, className }: TextBlockProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, keyboards cannot scroll the text
      tabIndex={0}
      className={classNames(classes, className)}
    >
      {text}
    </section>
  );
}
