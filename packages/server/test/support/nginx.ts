import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDocumentedCode } from './documented-code.ts';

export type NginxOptions = {
  /** A directory in which this function makes one for nginx. */
  readonly folder: string;
  /** The address and port to listen on, such as `127.0.0.1:8443`. */
  readonly listen: string;
  readonly servicePort: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Changes the documented configuration. */
  readonly edit?: (configuration: string) => string;
};

/** Starts nginx with the example of docs/reverse-proxy.md for the name `localhost`. The caller ends the process. */
export async function startNginx(options: NginxOptions): Promise<ChildProcess> {
  const { listen, servicePort, certificateFile, keyFile, edit = (text) => text } = options;
  const folder = await mkdtemp(join(options.folder, 'nginx-'));
  const server = await readDocumentedCode('reverse-proxy.md', 'nginx', {
    'listen 443 ssl': `listen ${listen} ssl`,
    '/etc/ssl/bots.example.com/fullchain.pem': certificateFile,
    '/etc/ssl/bots.example.com/privkey.pem': keyFile,
    'bots.example.com': 'localhost',
    '127.0.0.1:7420': `127.0.0.1:${servicePort}`,
  });
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `${process.geteuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log stderr; events {}
    http { access_log off; ${folders.join(' ')} ${edit(server)} }`,
  );
  return spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
}
