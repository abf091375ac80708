import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type TestCertificate = { readonly certificateFile: string; readonly keyFile: string };

/** A certification authority of a test. */
export type TestAuthority = {
  /** The certificate of the authority itself, in PEM format. */
  readonly file: string;
  /** Issues a certificate for names such as `DNS:localhost` and `IP:127.0.0.1`. It expires in two days, or expired yesterday. */
  readonly issue: (names: readonly string[], state?: 'valid' | 'expired') => Promise<TestCertificate>;
};

const keyType = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const dayMs = 86_400_000;

/** Creates an authority with openssl, in a directory. */
export async function createTestAuthority(folder: string): Promise<TestAuthority> {
  const openssl = (...words: readonly string[]) => promisify(execFile)('openssl', words, { cwd: folder });
  const key = join(folder, 'authority-key.pem');
  const file = join(folder, 'authority.pem');
  await openssl('req', '-x509', ...keyType, '-days', '2', '-subj', '/CN=test authority', '-keyout', key, '-out', file);
  await writeFile(join(folder, 'issued'), '');
  const configuration = join(folder, 'authority.conf');
  await writeFile(
    configuration,
    `[ca]\ndefault_ca = test\n[test]\ndatabase = issued\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256
    policy = any\ncopy_extensions = copy\nunique_subject = no\n[any]\ncommonName = supplied\n`,
  );
  return {
    file,
    issue: async (names, state = 'valid') => {
      const directory = await mkdtemp(join(folder, 'certificate-'));
      const [certificateFile, keyFile] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
      const request = join(directory, 'request.pem');
      const extensions = ['-addext', `subjectAltName=${names.join(',')}`];
      await openssl('req', '-new', ...keyType, '-subj', '/CN=test', ...extensions, '-keyout', keyFile, '-out', request);
      const endsAt = new Date(Date.now() + (state === 'valid' ? 2 : -1) * dayMs);
      const startsAt = new Date(endsAt.getTime() - 30 * dayMs);
      const times = ['-startdate', formatTime(startsAt), '-enddate', formatTime(endsAt)];
      const signer = ['-config', configuration, '-cert', file, '-keyfile', key];
      await openssl('ca', '-batch', '-notext', ...signer, ...times, '-in', request, '-out', certificateFile);
      return { certificateFile, keyFile };
    },
  };
}

/** Formats a time as ASN.1 GeneralizedTime. */
function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
}
