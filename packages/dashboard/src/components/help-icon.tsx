import { CircleQuestionMark } from 'lucide-react';
import { twMerge } from 'tailwind-merge';

type HelpIconProps = {
  /** The address of a section of the help, without the origin. */
  readonly address: string;
  /** What the section explains. */
  readonly label: string;
  readonly className?: string;
};

/** A link to the help. Opens in a new tab, because leaving the page ends a conversation and loses what a person typed. */
export function HelpIcon({ address, label, className }: HelpIconProps) {
  return (
    <a
      href={address}
      target="_blank"
      rel="noopener"
      aria-label={`Help for ${label} (opens in a new tab)`}
      className={twMerge('inline-flex rounded-lg text-quiet hover:text-foreground', className)}
    >
      <CircleQuestionMark aria-hidden="true" className="size-5" />
    </a>
  );
}
