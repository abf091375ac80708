import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { z } from 'zod';
import { RuntimeUnavailableError } from '../runtime.ts';

const execute = promisify(execFile);
const timeoutMs = 60_000;

export const execPluginSchema = z.object({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});
export type ExecPlugin = z.output<typeof execPluginSchema>;

const execCredentialSchema = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).optional(),
  }),
});

/**
 * Runs the program with which a kubeconfig file obtains credentials, such as `aws eks get-token` (Kubernetes documentation,
 * "client-go credential plugins"). It gets no variables of the service besides PATH and HOME.
 *
 * @throws RuntimeUnavailableError with the last line of its error output
 */
export async function runExecPlugin(
  plugin: ExecPlugin,
  { path, directory }: { readonly path: string; readonly directory: string },
): Promise<z.output<typeof execCredentialSchema>['status']> {
  const { apiVersion, command } = plugin;
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false } };
  const variables = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]));
  const env = { PATH: path, HOME: homedir(), ...variables, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  try {
    const { stdout } = await execute(command, plugin.args ?? [], { cwd: directory, env, timeout: timeoutMs });
    return execCredentialSchema.parse(JSON.parse(stdout)).status;
  } catch (error) {
    // Neither the message of the error nor its output is shown: they contain arguments, or credentials.
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    const reason = stderr.split('\n').at(-1) || 'it failed, or printed no ExecCredential';
    throw new RuntimeUnavailableError(`"${command}" of the kubeconfig file provided no credentials: ${reason}.`);
  }
}
