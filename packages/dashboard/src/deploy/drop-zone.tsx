import { FileArchive, FolderUp } from 'lucide-react';
import { useRef } from 'react';
import { twMerge } from 'tailwind-merge';
import { Button } from '../components/button.tsx';
import { createSourceFromArchive, createSourceFromFiles, type ProjectSource } from './project-source.ts';

type DropZoneProps = {
  readonly isDragged: boolean;
  /**
   * Called when a person drops or picks files. `choose` returns the project in these files, or throws a `PackingError` if the
   * files are not a project.
   */
  readonly onChoose: (choose: () => ProjectSource) => void;
};

/** The area on which people drop a folder or an archive. Its buttons open the browser's file picker. */
export function DropZone({ isDragged, onChoose }: DropZoneProps) {
  const folderInput = useRef<HTMLInputElement>(null);
  const archiveInput = useRef<HTMLInputElement>(null);
  return (
    <section
      aria-label="Project"
      className={twMerge(
        'flex flex-col items-center gap-4 rounded-2xl border-2 border-dashed px-6 py-16 text-center',
        isDragged ? 'border-accent bg-accent/5' : 'border-field bg-surface',
      )}
    >
      <span className="rounded-full border border-line bg-background p-3">
        <FolderUp aria-hidden="true" className="size-6 text-quiet" />
      </span>
      <div className="flex flex-col gap-1">
        <h2 className="font-semibold text-lg">Drop the folder of your bot here</h2>
        <p className="max-w-md text-quiet text-sm">
          Or a .tar.gz archive of it. It is packed in this browser, and you see what goes in before anything is sent.
        </p>
      </div>
      <div className="flex flex-wrap justify-center gap-3">
        <Button onClick={() => folderInput.current?.click()}>
          <FolderUp aria-hidden="true" className="size-4" />
          Choose a folder
        </Button>
        <Button variant="outline" onClick={() => archiveInput.current?.click()}>
          <FileArchive aria-hidden="true" className="size-4" />
          Choose an archive
        </Button>
      </div>
      <input
        ref={(input) => {
          folderInput.current = input;
          if (input !== null) input.webkitdirectory = true;
        }}
        type="file"
        aria-label="Folder"
        hidden
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          onChoose(() => createSourceFromFiles(files));
        }}
      />
      <input
        ref={archiveInput}
        type="file"
        accept=".tar.gz,.tgz,application/gzip"
        aria-label="Archive"
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onChoose(() => createSourceFromArchive(file));
        }}
      />
      <p className="max-w-md text-quiet text-xs">
        Secrets in .env files, version control and generated files are left out. Browsers do not show links: deploy a
        project with symbolic links as an archive or with botcli.
      </p>
    </section>
  );
}
