import type { Plan } from '../configuration/plan.ts';
import { dialsOut } from './bot-calls.ts';
import { variableGroups } from './variables.ts';

/** How people reach the bot once it is on the service, and which ways it does not have there. */
export function entryPoints(plan: Plan): readonly string[] {
  const { slug } = plan;
  const has = (value: string) => plan.transports.some((transport) => transport.value === value);
  const says = [
    ...(has('websocket')
      ? ['The page that `botcli cloud deploy` prints (`Talk to it`) uses `websocket` and asks for your public key.']
      : []),
    ...(has('lightrtc') ? byOffers(plan, has('websocket')) : []),
    ...(plan.has('stream') ? ['To receive calls, follow the section on the telephone.'] : []),
    ...(dialsOut(plan)
      ? [`\`botcli cloud agent start ${slug} --data '{"dialout_settings": ...}'\` makes the bot call somebody.`]
      : []),
    ...(plan.has('bridged-dial-in') ? ['`server.py` starts the bot for each call.'] : []),
    ...withoutRooms(plan),
    ...leftBehind(plan),
  ];
  const logs = [
    `\`botcli cloud agent status ${slug}\` and \`botcli cloud agent logs ${slug}\` show the state and the log of the bot.`,
  ];
  return ['', ...says.map((line) => `- ${line}`), '', ...logs];
}

/** The service's own page takes sockets only. */
function byOffers(plan: Plan, isInPage: boolean): readonly string[] {
  if (plan.configuration.generate_client)
    return ['The web client reaches the bot with `lightrtc`: `client/.env.example` explains how.'];
  return [
    'Clients reach the bot with `lightrtc`: they start a session with `{"transport": "webrtc"}` and send offers to its `api/offer`.',
    ...(isInPage || plan.configuration.bot_type !== 'web'
      ? []
      : [
          'To try it on the service’s own page, which needs `websocket`, run `botcli project add websocket` and deploy again.',
        ]),
  ];
}

/** What a machine has and an instance of the service has not. */
function leftBehind(plan: Plan): readonly string[] {
  const names = variableGroups(plan).flatMap(({ variables }) => variables.map(({ name }) => name));
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
    ...names
      .filter((name) => name === 'PIPECAT_ICE_SERVERS')
      .map(
        (name) =>
          `\`${name}\` is set by the service: comment it out in \`.env\` with a #, or \`secrets set\` refuses the file.`,
      ),
  ];
}

/** The service has no rooms of its own yet, starts none at their vendors, and answers no webhook of theirs. */
function withoutRooms(plan: Plan): readonly string[] {
  const isRoom = (value: string) => value === 'hostedrtc' || value === 'livekit';
  const rooms = plan.transports.filter(({ value }) => isRoom(value)).map(({ value }) => `\`${value}\``);
  const others = plan.transports.some(({ value }) => !isRoom(value));
  return [
    ...(rooms.length === 0
      ? []
      : [
          `The service starts no rooms yet: ${rooms.join(' and ')} ${rooms.length === 1 ? 'works' : 'work'} only on your machine.` +
            (others
              ? ''
              : ' `botcli project add lightrtc` or `add websocket` adds a way to reach the bot that works there.'),
        ]),
    ...(plan.has('room-dial-in')
      ? ['The service answers no webhook of the room vendor yet: the bot takes calls on your own machine only.']
      : []),
  ];
}
