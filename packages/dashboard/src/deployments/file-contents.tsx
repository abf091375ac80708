import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { twMerge } from 'tailwind-merge';
import { QueryBoundary } from '../components/query-boundary.tsx';
import type { FileDifference } from './compare-files.ts';
import { type DeploymentAddress, fileContentsQuery } from './queries.ts';
import { type DifferenceLine, findTextDifferences } from './text-difference.ts';

type FileContentsProps = {
  readonly from: DeploymentAddress | null;
  readonly to: DeploymentAddress;
  readonly difference: FileDifference;
};

const lineClasses = { added: 'bg-good/12', removed: 'bg-danger/12', equal: '' } as const;
const signs = { added: '+', removed: '-', equal: ' ' } as const;

/** Shows the lines of a file that differ, or why the content is not shown. */
export function FileContents({ from, to, difference }: FileContentsProps) {
  const contents = useQuery(fileContentsQuery(from, to, difference));
  return (
    <QueryBoundary query={contents}>
      {({ old, current }) => {
        const omitted = old?.omitted ?? current?.omitted ?? null;
        if (omitted !== null) {
          return (
            <Note>
              {omitted === 'binary' ? 'The file is binary.' : 'The file is too large to be shown (over 256 KiB).'}
            </Note>
          );
        }
        const parts = findTextDifferences(old?.text ?? '', current?.text ?? '');
        if (parts === null) return <Note>The two contents differ too much to be compared here.</Note>;
        if (parts.length === 0) return <Note>The file is empty.</Note>;
        return <Parts path={difference.path} parts={parts} />;
      }}
    </QueryBoundary>
  );
}

function Note({ children }: { readonly children: string }) {
  return <p className="px-5 pb-3 text-quiet text-sm sm:px-6">{children}</p>;
}

type PartsProps = { readonly path: string; readonly parts: readonly (readonly DifferenceLine[])[] };

function Parts({ path, parts }: PartsProps) {
  return (
    <section
      aria-label={`Lines of ${path}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a region only if it can have the focus
      tabIndex={0}
      className="max-h-[36rem] overflow-auto border-line border-t bg-background font-mono text-[0.8125rem] leading-5"
    >
      <table className="min-w-full">
        <tbody>
          {parts.map((lines, index) => (
            <Fragment key={lines[0]?.number}>
              {index > 0 && (
                <tr>
                  <td colSpan={3} className="select-none px-3 text-quiet">
                    …
                  </td>
                </tr>
              )}
              {lines.map(({ kind, number, text }) => (
                <tr key={`${kind} ${number}`} className={lineClasses[kind]}>
                  <td className="w-px select-none pr-2 pl-3 text-right text-quiet tabular-nums">{number}</td>
                  <td className="w-px px-1">
                    <span aria-hidden="true">{signs[kind]}</span>
                    {kind !== 'equal' && <span className="sr-only">{kind}</span>}
                  </td>
                  <td className={twMerge('whitespace-pre pr-3', kind === 'equal' && 'text-quiet')}>{text}</td>
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}
