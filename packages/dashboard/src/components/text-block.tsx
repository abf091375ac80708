import { twMerge } from 'tailwind-merge';

type TextBlockProps = {
  /** The accessible name of the text block. */
  readonly label: string;
  readonly text: string;
  readonly className?: string;
  /** Whether the end of a long text is shown first. */
  readonly startsAtEnd?: boolean;
};

const classes =
  'max-h-80 overflow-auto rounded-lg border border-line bg-background p-3 font-mono text-[0.8125rem] whitespace-pre-wrap wrap-anywhere';

/** Shows text of any length in a frame that can also be scrolled with the keyboard. */
export function TextBlock({ label, text, className, startsAtEnd = false }: TextBlockProps) {
  return (
    <section
      aria-label={label}
      ref={startsAtEnd ? scrollToEnd : undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, keyboards cannot scroll the text
      tabIndex={0}
      className={twMerge(classes, className)}
    >
      {text}
    </section>
  );
}

function scrollToEnd(element: HTMLElement | null): void {
  element?.scrollTo({ top: element.scrollHeight });
}
