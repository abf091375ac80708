import { formatBytes, formatCount } from '@bothost/contract';
import type { ExcludedPath } from '@bothost/packing';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { FactList } from '../components/fact-list.tsx';
import { Section } from '../components/section.tsx';
import { WarningList } from '../components/warning-list.tsx';
import type { ChosenProject } from './pack-project.ts';

/** Maximum number of rows per list, so that the page stays readable for a project with many files. */
const maxRows = 200;

type ProjectContentsProps = { readonly project: ChosenProject; readonly onChooseAgain: (() => void) | undefined };

/** Shows the packed files, the excluded files with the reason, and warnings about suspicious files. */
export function ProjectContents({ project, onChooseAgain }: ProjectContentsProps) {
  const { name, deployFile, files, excluded, contentHash, warnings } = project;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <Section
      title={name}
      lead={`${formatCount(files.length, 'file')}, ${formatBytes(bytes)}.`}
      actions={
        onChooseAgain !== undefined && (
          <Button variant="outline" size="small" onClick={onChooseAgain}>
            Choose another
          </Button>
        )
      }
    >
      <WarningList warnings={warnings} className="border-line border-b" />
      <FactList
        facts={[
          ['Settings from', deployFile?.path ?? 'This page; there is no deploy.toml'],
          [
            'Content hash',
            <code key="hash" className="font-mono text-[0.8125rem]">
              {contentHash}
            </code>,
          ],
        ]}
      />
      <Rows title={`Packed: ${formatCount(files.length, 'file')}`} total={files.length}>
        {files.slice(0, maxRows).map(({ path, size, link }) => (
          <PathRow key={path} path={path} note={link === null ? formatBytes(size) : `link to ${link.target}`} />
        ))}
      </Rows>
      {excluded.length > 0 && (
        <Rows title={`Left out: ${formatCount(excluded.length, 'path')}`} total={excluded.length}>
          {excluded.slice(0, maxRows).map((one) => (
            <PathRow key={one.path} path={one.path} note={describeExcluded(one)} />
          ))}
        </Rows>
      )}
    </Section>
  );
}

type RowsProps = { readonly title: string; readonly total: number; readonly children: ReactNode };

function Rows({ title, total, children }: RowsProps) {
  return (
    <details className="group border-line border-t">
      <summary className="flex cursor-pointer list-none items-center gap-1 px-5 py-3 text-quiet text-sm hover:text-foreground sm:px-6">
        <ChevronRight aria-hidden="true" className="size-4 transition-transform group-open:rotate-90" />
        {title}
      </summary>
      <ul className="flex flex-col gap-1 px-5 pb-4 text-sm sm:px-6">
        {children}
        {total > maxRows && <li className="text-quiet">{total - maxRows} more</li>}
      </ul>
    </details>
  );
}

function PathRow({ path, note }: { readonly path: string; readonly note: string }) {
  return (
    <li className="flex flex-wrap justify-between gap-x-6">
      <span className="font-mono text-[0.8125rem] wrap-anywhere">{path}</span>
      <span className="text-quiet">{note}</span>
    </li>
  );
}

function describeExcluded({ reason, files, bytes, isWhole }: ExcludedPath): string {
  return `${reason}; ${isWhole ? '' : 'more than '}${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
}
