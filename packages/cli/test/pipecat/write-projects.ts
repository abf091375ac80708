import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { projectMatrix } from '../scaffold/project-matrix.ts';

export type WrittenProject = {
  readonly name: string;
  readonly directory: string;
  readonly extras: readonly string[];
  /** Names of the variables that the project's `.env.example` requires. */
  readonly variables: readonly string[];
  readonly files: readonly string[];
};

/** Writes each project of the test matrix, without its web client, to a numbered directory. */
export function writeProjects(directory: string): Promise<readonly WrittenProject[]> {
  return Promise.all(
    projectMatrix.map(async ([name, configuration], index): Promise<WrittenProject> => {
      const place = join(directory, `project-${index}`);
      const files = generateProjectFiles(configuration).filter(({ path }) => path.startsWith('server/'));
      for (const { path, text } of files) {
        await mkdir(dirname(join(place, path)), { recursive: true });
        await writeFile(join(place, path), text);
      }
      const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';
      const extras = /"pipecat-ai\[([^\]]*)\]/.exec(textOf('server/pyproject.toml'))?.[1]?.split(',') ?? [];
      const lines = textOf('server/.env.example').matchAll(/^([A-Z][A-Z0-9_]+)=/gm);
      return {
        name,
        directory: join(place, 'server'),
        extras,
        variables: [...lines].map(([, variable]) => variable ?? ''),
        files: files.map(({ path }) => join(place, path)),
      };
    }),
  );
}
