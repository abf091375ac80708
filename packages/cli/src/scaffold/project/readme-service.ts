import type { ProjectPlan } from '../configuration/plan.ts';
import { dialsOut } from './bot-calls.ts';
import { groupEnvironmentVariables } from './variables.ts';

/** Generates the section about how people reach the bot on the service, and what does not work there. */
export function generateEntryPointsSection(plan: ProjectPlan): readonly string[] {
  const { slug } = plan;
  const has = (value: string) => plan.transports.some((transport) => transport.value === value);
  const items = [
    ...(has('websocket')
      ? [
          'The page that `botcli cloud deploy` prints (`Talk to the bot`) uses `websocket` and asks for your public key.',
        ]
      : []),
    ...(has('lightrtc') ? peerToPeer(plan, has('websocket')) : []),
    ...(has('hostedrtc')
      ? [
          'Clients use `daily (hostedrtc)` once the service has your key of Daily: `botcli cloud rooms connect daily`. They start a session with `{"transport": "daily"}` and join the room with `dailyRoom` and `dailyToken` of the response.',
        ]
      : []),
    ...(has('livekit')
      ? [
          'Clients use `livekit` if the service has a LiveKit server: they start a session with `{"transport": "livekit"}` and join its room with the `url` and `token` of the response.',
        ]
      : []),
    ...(plan.has('room-dial-in')
      ? [
          `To receive calls, run \`botcli cloud rooms connect daily\`, and enter the address that \`botcli cloud rooms dialin ${slug}\` prints as \`room_creation_api\` of your number at Daily.`,
        ]
      : []),
    ...(plan.has('stream') ? ['To receive calls, follow the section on the telephone.'] : []),
    ...(dialsOut(plan)
      ? [`\`botcli cloud agent start ${slug} --data '{"dialout_settings": ...}'\` makes the bot call somebody.`]
      : []),
    ...(plan.has('bridged-dial-in') ? ['`server.py` starts the bot for each call.'] : []),
    ...unavailableFiles(plan),
  ];
  const logs = [
    `\`botcli cloud agent status ${slug}\` and \`botcli cloud agent logs ${slug}\` show the state and the log of the bot.`,
  ];
  return ['', ...items.map((line) => `- ${line}`), '', ...logs];
}

/** Explains how clients use the peer-to-peer transport. */
function peerToPeer(plan: ProjectPlan, hasWebSocket: boolean): readonly string[] {
  if (plan.configuration.generate_client)
    return ['The web client uses `smallwebrtc (lightrtc)`: `client/.env.example` explains how.'];
  return [
    'Clients use `smallwebrtc (lightrtc)`: they start a session with `{"transport": "webrtc"}` and send offers to its `api/offer`.',
    ...(hasWebSocket || plan.configuration.bot_type !== 'web'
      ? []
      : ['On the talk page of the service, choose WebRTC as the transport.']),
  ];
}

/** Lists files and settings of the user's machine that are not available to a bot on the service. */
function unavailableFiles(plan: ProjectPlan): readonly string[] {
  const names = groupEnvironmentVariables(plan).flatMap(({ variables }) => variables.map(({ name }) => name));
  return [
    ...(plan.configuration.recording
      ? [
          'Recordings are deleted when their session ends there: make `on_audio_data` in `bot.py` send them to storage of your own.',
        ]
      : []),
    ...names
      .filter((name) => name === 'GOOGLE_APPLICATION_CREDENTIALS')
      .map(
        (name) =>
          `\`${name}\` is a path: on the service, the file must exist on the service’s machine and be readable by the bot.`,
      ),
    ...(names.includes('LIVEKIT_API_SECRET')
      ? [
          'The variables `LIVEKIT_...` are for your machine only: on the service, the bot gets a token for each room. Comment them out in `.env` with a #, so that the secret stays with you.',
        ]
      : []),
    ...names
      .filter((name) => name === 'PIPECAT_ICE_SERVERS')
      .map(
        (name) =>
          `\`${name}\` is set by the service: comment it out in \`.env\` with a #, or \`secrets set\` refuses the file.`,
      ),
  ];
}
