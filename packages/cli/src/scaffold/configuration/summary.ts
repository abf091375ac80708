import { type ServiceKind, serviceKinds, serviceRoles } from '../catalogue/service.ts';
import { findService } from '../catalogue/services.ts';
import { displayName, findTransport } from '../catalogue/transports.ts';
import type { Configuration } from './configuration.ts';

/** Labels of the features that can be switched on, as the wizard and summaries show them. */
export const featureLabels = {
  deploy_to_cloud: 'Files for a deployment on the service',
  enable_eval: 'Evaluations',
  transcription: 'Transcripts in the log',
  recording: 'Audio recordings',
  enable_nc: 'Noise cancellation',
  enable_observability: 'Pipeline debugger',
  video_input: 'Video input (camera)',
  video_output: 'Video output',
} as const satisfies Partial<Record<keyof Configuration, string>>;

/** What a project consists of, as rows of label and names for people. */
export function summaryOf(configuration: Configuration): readonly (readonly [label: string, text: string])[] {
  const transports = configuration.transports.flatMap((value) => findTransport(value) ?? []).map(displayName);
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
      return name === null ? [] : [[serviceRoles[kind], name] as const];
    }),
    ...(configuration.generate_client ? [['Web client', clientName(configuration)] as const] : []),
    ['Features', features.length === 0 ? 'none' : features.join(', ')],
  ];
}

/** `React with Vite` */
export function clientName({
  client_framework: framework,
  client_server: server,
}: Pick<Configuration, 'client_framework' | 'client_server'>): string {
  return `${framework === 'react' ? 'React' : 'Plain TypeScript'} with ${server === 'nextjs' ? 'Next.js' : 'Vite'}`;
}
