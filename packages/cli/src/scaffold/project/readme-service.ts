import { dialsOut } from './bot-calls.ts';
import type { Plan } from './plan.ts';
import { variableGroups } from './variables.ts';

/** How people reach the bot once it is on the service, and which ways it does not have there. */
export function entryPoints(plan: Plan): readonly string[] {
  const { slug } = plan;
  const has = (value: string) => plan.transports.some((transport) => transport.value === value);
  const says = [
    ...(has('websocket')
      ? ['The page that a deploy names (`Talk to it`) talks to it by `websocket`: it asks for your public key.']
      : []),
    ...(has('lightrtc') ? byOffers(plan, has('websocket')) : []),
    ...(plan.has('stream') ? ['Calls reach it as the section on the telephone says.'] : []),
    ...(dialsOut(plan)
      ? [`\`botcli cloud agent start ${slug} --data '{"dialout_settings": ...}'\` has it ring somebody.`]
      : []),
    ...(plan.has('bridged-dial-in') ? ['`server.py` starts it for each call.'] : []),
    ...withoutRooms(plan),
    ...leftBehind(plan),
  ];
  const logs = [`\`botcli cloud agent status ${slug}\` and \`botcli cloud agent logs ${slug}\` show how it does.`];
  return ['', ...says.map((line) => `- ${line}`), '', ...logs];
}

/** The service's own page takes sockets only. */
function byOffers(plan: Plan, isInPage: boolean): readonly string[] {
  if (plan.configuration.generate_client)
    return ['The web client reaches it by `lightrtc`: `client/.env.example` says how.'];
  return [
    'Clients reach it by `lightrtc`: they start a session with `{"transport": "webrtc"}` and send offers to its `api/offer`.',
    ...(isInPage || plan.configuration.bot_type !== 'web'
      ? []
      : [
          'To try it in the service’s own page, which needs `websocket`: `botcli project add websocket`, then deploy again.',
        ]),
  ];
}

/** What a machine has and an instance of the service has not. */
function leftBehind(plan: Plan): readonly string[] {
  const names = variableGroups(plan).flatMap(({ variables }) => variables.map(({ name }) => name));
  return [
    ...(plan.configuration.recording
      ? ['Recordings go away with their session there: have `on_audio_data` in `bot.py` send them to a place of yours.']
      : []),
    ...names
      .filter((name) => name === 'GOOGLE_APPLICATION_CREDENTIALS')
      .map(
        (name) =>
          `\`${name}\` is a path: there, the file has to be on the service’s machine, and the bot has to read it.`,
      ),
    ...names
      .filter((name) => name === 'PIPECAT_ICE_SERVERS')
      .map(
        (name) => `\`${name}\` is set by the service: put a # before it in \`.env\`, or \`secrets set\` refuses it.`,
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
          `The service starts no rooms yet: ${rooms.join(' and ')} ${rooms.length === 1 ? 'works' : 'work'} on your machine.` +
            (others
              ? ''
              : ' `botcli project add lightrtc` or `add websocket` gives the bot a way in that works there.'),
        ]),
    ...(plan.has('room-dial-in')
      ? [
          'The service answers no webhook of the rooms’ vendor yet: the bot takes calls where you run it, and not there.',
        ]
      : []),
  ];
}
