import type { Transport } from '../catalogue/transport.ts';
import type { Plan } from '../configuration/plan.ts';
import { call, construct, type Expression, importsOf, layOut, python } from '../python/expression.ts';
import { type Code, nothing } from './code.ts';

type Features = Plan['configuration'];

/** `transport_params`: the audio and video settings of each transport. */
export function transportParameters(plan: Plan): Code {
  const entries = new Map<string, Expression>();
  for (const transport of plan.transports) {
    // Browsers and callers can share a room; then the settings of the browsers apply to both.
    if (transport.key === null || (entries.has(transport.key) && transport.kind !== 'browser')) continue;
    entries.set(transport.key, parametersOf(transport, plan.configuration));
  }
  if (plan.configuration.enable_eval) entries.set('eval', evalParameters(plan.configuration));
  if (entries.size === 0) return nothing;
  return {
    lines: [
      '# Audio and video settings. The runner uses the entry of the transport that a client has chosen.',
      'transport_params = {',
      ...[...entries].flatMap(([key, value]) => layOut(value, 4, `"${key}": lambda: `, ',')),
      '}',
    ],
    imports: [...entries.values()].flatMap(importsOf),
  };
}

/** The parameters object of a transport. */
export function parametersOf(transport: Transport, features: Features): Expression {
  return construct(transport.parameters, {
    ...audio,
    ...(features.enable_nc ? { audio_in_filter: noiseFilter } : {}),
    ...(transport.key === 'websocket' ? browserSocket : {}),
    ...(transport.video && features.video_input ? camera(features) : {}),
    ...(transport.video && features.video_output ? screen : {}),
  });
}

const yes = python('True');
const audio = { audio_in_enabled: yes, audio_out_enabled: yes };
const noiseFilter = construct({ module: 'pipecat.audio.filters.rnnoise_filter', name: 'RNNoiseFilter' }, {});
const browserSocket = {
  add_wav_header: python('False'),
  serializer: construct({ module: 'pipecat.serializers.protobuf', name: 'ProtobufFrameSerializer' }, {}),
};
/** Realtime models get one frame per second; in a cascade the model requests a frame with a tool. */
const camera = ({ mode }: Features) => ({
  video_in_enabled: yes,
  video_in_sources: python(
    `{"camera": VideoInSourceParams(${mode === 'cascade' ? 'on_request_only=True' : 'framerate=1'})}`,
    [{ module: 'pipecat.transports.base_transport', name: 'VideoInSourceParams' }],
  ),
});
const screen = {
  video_out_enabled: yes,
  video_out_is_live: yes,
  video_out_width: python('1024'),
  video_out_height: python('768'),
};

function evalParameters(features: Features): Expression {
  const imported = { module: 'pipecat.evals.transport', name: 'EvalTransportParams' };
  return call('EvalTransportParams', { ...audio, ...(features.video_input ? { video_in_enabled: yes } : {}) }, [
    imported,
  ]);
}
