import { listServices } from '../catalogue/services.ts';
import { transports } from '../catalogue/transports.ts';
import type { ServiceKind } from '../catalogue/vendor-service.ts';
import { botTypes } from './configuration.ts';

/** Creates the document that `init --list-options` prints, with the canonical names of all values. */
export function createOptionsDocument() {
  const values = (kind: ServiceKind) => listServices(kind).map(({ service }) => service.value);
  const group = (name: 'web' | 'telephony') => transports.filter((one) => one.group === name).map(({ value }) => value);
  return {
    bot_type: botTypes,
    transports: { web: group('web'), telephony: group('telephony') },
    stt: values('stt'),
    llm: values('llm'),
    tts: values('tts'),
    realtime: values('realtime'),
    video: values('video'),
  };
}
