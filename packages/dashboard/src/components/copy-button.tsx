import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';

type CopyButtonProps = {
  readonly text: string;
  /** The button's accessible name, such as `Copy the command`. */
  readonly label: string;
};

/** Copies a text to the clipboard, and shows whether that worked. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [result, setResult] = useState<'copied' | 'failed' | null>(null);
  const copy = () =>
    // `navigator.clipboard` is undefined on pages that are loaded over plain HTTP from another machine.
    (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('The clipboard is not available.'))).then(
      () => setResult('copied'),
      () => setResult('failed'),
    );
  const Icon = result === 'copied' ? Check : Copy;
  return (
    <>
      <Button variant="outline" size="small" onClick={copy} aria-label={label}>
        <Icon aria-hidden="true" className="size-4" />
        {result === 'copied' ? 'Copied' : 'Copy'}
      </Button>
      <span role="status" className="sr-only">
        {result === 'copied' && 'Copied'}
        {result === 'failed' && 'Not copied. Select the text and copy it.'}
      </span>
    </>
  );
}
