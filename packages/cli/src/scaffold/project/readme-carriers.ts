import type { Transport } from '../catalogue/transport.ts';
import type { Plan } from './plan.ts';

/** For each carrier and each way into a room: what has to be set there. */
export function carrierSetUp(plan: Plan): readonly string[] {
  const streams = plan.transports.flatMap(({ key, kind }) => (kind === 'stream' && key !== null ? [key] : []));
  const deploys = plan.configuration.deploy_to_cloud;
  const sections = streams.flatMap((key) => carriers[key]?.(deploys ? plan.slug : null) ?? []);
  const local =
    streams.length === 0
      ? []
      : [
          [
            '## Telephone',
            '',
            'A carrier has to reach the bot. While you build, give it a tunnel to port 7860, for example `ngrok http 7860`, and',
            `use the tunnel’s name for HOST below.${deploys ? ' On the service, HOST is the service’s name; there AGENT.ORG is' : ''}`,
            ...(deploys
              ? [`\`${plan.slug}.\` and the name of your organization (\`botcli cloud organizations list\`).`]
              : []),
            '',
            'Whoever knows these addresses can ring the bot: nothing proves that it is the carrier.',
            ...(deploys
              ? [
                  'Where that matters, take `websocket_auth` out of `deploy.toml`, and have a webhook of your own check the carrier’s',
                  'signature and get each call a token; the service’s document on telephone calls has one.',
                ]
              : []),
          ].join('\n'),
        ];
  return [...local, ...sections, ...rooms(plan)];
}

/** `agent` is null for a project that is not deployed. */
const carriers: Readonly<Record<string, (agent: string | null) => readonly string[]>> = {
  twilio: (agent) => [
    [
      '### Twilio',
      '',
      '1. Make a TwiML bin with this text. `from_number` tells the bot who is calling.',
      '',
      ...xml(
        '<Response>',
        '  <Connect>',
        '    <Stream url="wss://HOST/ws">',
        '      <Parameter name="from_number" value="{{From}}"/>',
        '      <Parameter name="to_number" value="{{To}}"/>',
        '    </Stream>',
        '  </Connect>',
        '</Response>',
      ),
      '',
      '2. Set it as what happens when a call comes in at your number.',
      ...(agent === null
        ? []
        : [
            '3. For the service, the address is `wss://HOST/ws/twilio`, with one parameter more:',
            '',
            ...xml(`<Parameter name="_pipecatCloudServiceHost" value="${agent}.ORG"/>`),
          ]),
    ].join('\n'),
  ],
  telnyx: (agent) => [
    [
      '### Telnyx',
      '',
      '1. Make a TeXML bin with this text.',
      '',
      ...xml(
        '<Response>',
        '  <Connect>',
        '    <Stream url="wss://HOST/ws" bidirectionalMode="rtp"/>',
        '  </Connect>',
        '</Response>',
      ),
      '',
      '2. Make a TeXML application that uses it, and give it to your number.',
      ...onService(agent, 'telnyx'),
    ].join('\n'),
  ],
  plivo: (agent) => [
    [
      '### Plivo',
      '',
      '1. Serve this text under an address of yours.',
      '',
      ...xml(
        '<Response>',
        '  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">',
        '    wss://HOST/ws',
        '  </Stream>',
        '</Response>',
      ),
      '',
      '2. Make an XML application with that address as its answer URL, and give it to your number.',
      ...onService(agent, 'plivo'),
    ].join('\n'),
  ],
  exotel: (agent) => [
    [
      '### Exotel',
      '',
      '1. Make a call flow with the Voicebot applet, and give it `wss://HOST/ws` as its address.',
      '2. Give the flow to your number.',
      ...onService(agent, 'exotel'),
    ].join('\n'),
  ],
};

function onService(agent: string | null, carrier: string): readonly string[] {
  return agent === null
    ? []
    : [`3. For the service, the address is \`wss://HOST/ws/${carrier}?serviceHost=${agent}.ORG\`.`];
}

function rooms(plan: Plan): readonly string[] {
  // Carriers may have a section, too, with another port: each says which of the ways it is about.
  const named = ({ label }: Transport) => `## Telephone: ${label}`;
  const rung = plan.transports.find(({ kind }) => kind === 'room-dial-in');
  if (rung !== undefined) {
    return [
      [
        named(rung),
        '',
        'Buy a number at the rooms’ vendor, and set `https://HOST/daily-dialin-webhook` as the address that is asked when it is',
        'rung. HOST is the name of a tunnel to port 7860, where the bot listens: one command, `uv run bot.py`, runs it all.',
      ].join('\n'),
    ];
  }
  const bridged = plan.transports.find(({ kind }) => kind === 'bridged-dial-in');
  if (bridged === undefined) return [];
  return [
    [
      named(bridged),
      '',
      'The carrier asks `server.py` what to do with a call. It starts the bot, holds the caller meanwhile, and the bot leads the',
      'call into its room. Run both, in two terminals:',
      '',
      '```sh',
      'cd server',
      'uv run bot.py -t daily',
      'uv run server.py',
      '```',
      '',
      'Give the carrier a tunnel to port 8080: `https://HOST/call`, asked by POST when a call comes in at your number.',
      ...(plan.configuration.deploy_to_cloud
        ? [
            'With the bot on the service, `server.py` runs on a machine of yours, and `WEBHOOK_START_URL` and',
            `\`WEBHOOK_START_PUBLIC_KEY\` say where bots are started: \`https://HOST/v1/public/${plan.slug}/start\`, with a public key.`,
          ]
        : []),
      '',
      '`server.py` answers only what the carrier has signed with the token of your account. The signature covers the address:',
      'a proxy that changes it without `X-Forwarded-Proto` and `X-Forwarded-Host` needs `WEBHOOK_URL`.',
    ].join('\n'),
  ];
}

function xml(...lines: readonly string[]): readonly string[] {
  return ['```xml', ...lines, '```'].map((line) => `   ${line}`);
}
