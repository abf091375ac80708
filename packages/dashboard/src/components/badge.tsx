import { cva, type VariantProps } from 'class-variance-authority';
import type { ReactNode } from 'react';

const variants = cva('inline-flex items-center whitespace-nowrap rounded-full border px-2 py-0.5 font-medium text-xs', {
  variants: {
    tone: {
      neutral: 'border-line text-quiet',
      accent: 'border-accent/50 text-accent',
      good: 'border-good/50 text-good',
      danger: 'border-danger/50 text-danger',
    },
  },
  defaultVariants: { tone: 'neutral' },
});

type BadgeProps = VariantProps<typeof variants> & { readonly children: ReactNode };

export function Badge({ tone, children }: BadgeProps) {
  return <span className={variants({ tone })}>{children}</span>;
}
