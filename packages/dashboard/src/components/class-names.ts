import { type ClassValue, clsx } from 'clsx';
import { twMerge } from 'tailwind-merge';

/** Joins class names; a later Tailwind class replaces an earlier one for the same property. */
export function classNames(...values: ClassValue[]): string {
  return twMerge(clsx(values));
}
