import { findService } from '../catalogue/services.ts';
import { findTransport, formatTransportName } from '../catalogue/transports.ts';
import { type ServiceKind, serviceKinds, serviceRoleLabels } from '../catalogue/vendor-service.ts';
import type { ProjectConfiguration } from './configuration.ts';

export const featureLabels = {
  deploy_to_cloud: 'Files for a deployment on the service',
  enable_eval: 'Evaluations',
  transcription: 'Transcripts in the log',
  recording: 'Audio recordings',
  enable_nc: 'Noise cancellation',
  enable_observability: 'Pipeline debugger',
  video_input: 'Video input (camera)',
  video_output: 'Video output',
} as const satisfies Partial<Record<keyof ProjectConfiguration, string>>;

/** Summarizes a project as human-readable rows of label and value. */
export function summarizeConfiguration(
  configuration: ProjectConfiguration,
): readonly (readonly [label: string, text: string])[] {
  const transports = configuration.transports.flatMap((value) => findTransport(value) ?? []).map(formatTransportName);
  const serviceName = (kind: ServiceKind) => {
    const value = configuration[`${kind}_service`];
    return value === null ? null : (findService(kind, value)?.service.label ?? value);
  };
  const features = Object.entries(featureLabels).flatMap(([key, label]) =>
    configuration[key as keyof typeof featureLabels] ? [label] : [],
  );
  return [
    ['Project', configuration.project_name],
    ['Bot type', configuration.bot_type === 'web' ? 'web (browser or app)' : 'telephony'],
    [transports.length === 1 ? 'Transport' : 'Transports', transports.join(', ')],
    ...serviceKinds.flatMap((kind) => {
      const name = serviceName(kind);
      return name === null ? [] : [[serviceRoleLabels[kind], name] as const];
    }),
    ...(configuration.generate_client ? [['Web client', formatWebClientName(configuration)] as const] : []),
    ['Features', features.length === 0 ? 'none' : features.join(', ')],
  ];
}

export function formatWebClientName({
  client_framework: framework,
  client_server: server,
}: Pick<ProjectConfiguration, 'client_framework' | 'client_server'>): string {
  return `${framework === 'react' ? 'React' : 'Plain TypeScript'} with ${server === 'nextjs' ? 'Next.js' : 'Vite'}`;
}
