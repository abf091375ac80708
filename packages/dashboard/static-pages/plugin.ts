import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { fillTemplate } from './fill-template.ts';
import { createHelpAddress, loadHelp } from './load-help.ts';
import { createReferenceDocument } from './reference-document.ts';
import { renderDocumentPage, renderIndexPage } from './render-help.ts';
import { renderReferenceOutline } from './render-reference-outline.ts';
import { createHelpSearchIndex } from './search-index.ts';

/** `repository` is its directory; `version` is that of the service. */
type StaticPagesOptions = { readonly repository: string; readonly version: string };

/**
 * Writes the pages that need no React: one for each document of the help, from the template `help.html`, and the API reference, from
 * `docs.html`.
 */
export function staticPages({ repository, version }: StaticPagesOptions): Plugin {
  return {
    name: 'static-pages',
    enforce: 'post',
    generateBundle(_, bundle) {
      const takeTemplate = (name: string) => {
        const file = bundle[name];
        if (file?.type !== 'asset') throw new Error(`${name} is not part of the build`);
        delete bundle[name];
        return String(file.source);
      };
      const emit = (fileName: string, source: string | Uint8Array) =>
        this.emitFile({ type: 'asset', fileName, source });
      const help = takeTemplate('help.html');
      const groups = loadHelp(repository);
      emit('help/index.html', fillTemplate(help, renderIndexPage(groups, version)));
      for (const document of groups.flatMap(({ documents }) => documents)) {
        emit(`${document.address.slice(1)}.html`, fillTemplate(help, renderDocumentPage(groups, document, version)));
        for (const image of document.images) {
          emit(createHelpAddress(image).slice(1), readFileSync(join(repository, image)));
        }
      }
      emit('help/search.json', createHelpSearchIndex(groups));
      const reference = createReferenceDocument();
      emit('docs/index.html', fillTemplate(takeTemplate('docs.html'), { content: renderReferenceOutline(reference) }));
      emit('docs/openapi.json', JSON.stringify(reference));
    },
  };
}

const compressed = /\.(?:css|html|js|json|svg)$/;

/** Writes a compressed copy of each text file beside it, which the service sends to browsers. */
export function compressFiles(): Plugin {
  return {
    name: 'compress-files',
    enforce: 'post',
    writeBundle({ dir = '' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        const file = join(dir, name);
        if (compressed.test(name) && statSync(file).isFile()) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
      }
    },
  };
}
