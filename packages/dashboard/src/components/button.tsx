import { cva, type VariantProps } from 'class-variance-authority';
import { Slot } from 'radix-ui';
import type { ComponentProps } from 'react';
import { twMerge } from 'tailwind-merge';

const variants = cva(
  'inline-flex cursor-pointer items-center justify-center gap-2 rounded-lg font-medium text-sm transition-colors disabled:cursor-default disabled:opacity-60',
  {
    variants: {
      variant: {
        primary: 'bg-accent text-accent-foreground hover:bg-accent/90',
        outline: 'border border-field bg-surface hover:bg-background',
        danger: 'border border-danger text-danger hover:bg-danger-surface',
        destructive: 'bg-danger text-danger-foreground hover:bg-danger/90',
        quiet: 'text-quiet hover:text-foreground',
      },
      size: { regular: 'min-h-10 px-4 py-2', small: 'min-h-8 px-3 py-1' },
    },
    defaultVariants: { variant: 'primary', size: 'regular' },
  },
);

type ButtonProps = ComponentProps<'button'> & VariantProps<typeof variants> & { readonly asChild?: boolean };

/** A button. With `asChild`, gives its only child, for example a link, the appearance of a button. */
export function Button({ className, variant, size, asChild = false, type = 'button', ...props }: ButtonProps) {
  const classes = twMerge(variants({ variant, size }), className);
  if (asChild) return <Slot.Root className={classes} {...props} />;
  return <button type={type} className={classes} {...props} />;
}
