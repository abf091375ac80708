import { Fragment } from 'react';

/** Shows a command whose lines break only between words: browsers would otherwise break lines after the hyphens of options. */
export function UnbrokenWords({ text }: { readonly text: string }) {
  return text.split(' ').map((word, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the words have fixed positions
    <Fragment key={index}>
      {index > 0 && ' '}
      <span className="inline-block">{word}</span>
    </Fragment>
  ));
}
