import type { Transport } from '../catalogue/transport.ts';
import type { ProjectPlan } from '../configuration/plan.ts';

/** Generates the README sections that explain how to set up each carrier, and phone calls through hosted rooms. */
export function generateCarrierSections(plan: ProjectPlan): readonly string[] {
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
            'The carrier must be able to reach the bot. During development, open a tunnel to port 7860, for example with',
            '`ngrok http 7860`, and use the name of the tunnel as HOST below.',
            ...(deploys
              ? [
                  `On the service, HOST is the name of the service, and ORG in \`${plan.slug}.ORG\` is the name of your organization`,
                  '(`botcli cloud organizations list`).',
                ]
              : []),
            '',
            'Anyone who knows these addresses can call the bot: nothing proves that the caller is the carrier.',
            ...(deploys
              ? [
                  'If that matters to you, remove `websocket_auth` from `deploy.toml` and let the service answer the carrier, which',
                  `then has to prove who it is: \`botcli cloud phone ${plan.slug}\` prints the URL to enter on the carrier’s page.`,
                ]
              : []),
          ].join('\n'),
        ];
  return [...local, ...sections, ...rooms(plan)];
}

/** README sections by transport key. `agent` is the agent's name, or null for a project without a deployment. */
const carriers: Readonly<Record<string, (agent: string | null) => readonly string[]>> = {
  twilio: (agent) => [
    [
      '### Twilio',
      '',
      '1. Create a TwiML Bin with this text. `from_number` tells the bot who is calling.',
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
      '2. Select it for incoming calls to your number (“A call comes in”).',
      ...(agent === null
        ? []
        : [
            '3. For the service, use the address `wss://HOST/ws/twilio` and add one parameter:',
            '',
            ...xml(`<Parameter name="_pipecatCloudServiceHost" value="${agent}.ORG"/>`),
          ]),
    ].join('\n'),
  ],
  telnyx: (agent) => [
    [
      '### Telnyx',
      '',
      '1. Create a TeXML Bin with this text.',
      '',
      ...xml(
        '<Response>',
        '  <Connect>',
        '    <Stream url="wss://HOST/ws" bidirectionalMode="rtp"/>',
        '  </Connect>',
        '</Response>',
      ),
      '',
      '2. Create a TeXML application that uses it, and assign the application to your number.',
      ...onService(agent, 'telnyx'),
    ].join('\n'),
  ],
  plivo: (agent) => [
    [
      '### Plivo',
      '',
      '1. Serve this text at a URL of your own.',
      '',
      ...xml(
        '<Response>',
        '  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">',
        '    wss://HOST/ws',
        '  </Stream>',
        '</Response>',
      ),
      '',
      '2. Create an XML application with that URL as its answer URL, and assign the application to your number.',
      ...onService(agent, 'plivo'),
    ].join('\n'),
  ],
  exotel: (agent) => [
    [
      '### Exotel',
      '',
      '1. Create a call flow with the Voicebot applet, and enter `wss://HOST/ws` as its URL.',
      '2. Assign the flow to your number.',
      ...onService(agent, 'exotel'),
    ].join('\n'),
  ],
};

function onService(agent: string | null, carrier: string): readonly string[] {
  return agent === null
    ? []
    : [`3. For the service, use the address \`wss://HOST/ws/${carrier}?serviceHost=${agent}.ORG\`.`];
}

function rooms(plan: ProjectPlan): readonly string[] {
  // Include the transport's label in the heading, because the README can have another section about media streams of the same
  // carrier.
  const heading = ({ label }: Transport) => `## Telephone: ${label}`;
  const dialIn = plan.transports.find(({ kind }) => kind === 'room-dial-in');
  if (dialIn !== undefined) {
    return [
      [
        heading(dialIn),
        '',
        'Buy a number from the room vendor, and set `https://HOST/daily-dialin-webhook` as its webhook for incoming calls.',
        'HOST is the name of a tunnel to port 7860, where the bot listens. You only need to run `uv run bot.py`.',
      ].join('\n'),
    ];
  }
  const bridged = plan.transports.find(({ kind }) => kind === 'bridged-dial-in');
  if (bridged === undefined) return [];
  return [
    [
      heading(bridged),
      '',
      'For each incoming call, the carrier sends a request to `server.py`, which starts the bot and puts the caller on hold. The bot',
      'then connects the call to its room. Run both, in two terminals:',
      '',
      '```sh',
      'cd server',
      'uv run bot.py -t daily',
      'uv run server.py',
      '```',
      '',
      'Open a tunnel to port 8080, and set `https://HOST/call` (POST) as the carrier’s webhook for incoming calls to your number.',
      ...(plan.configuration.deploy_to_cloud
        ? [
            'When the bot is on the service, `server.py` still runs on a machine of your own. Set `WEBHOOK_START_URL` to',
            `\`https://HOST/v1/public/${plan.slug}/start\`, where HOST is the service, and \`WEBHOOK_START_PUBLIC_KEY\` to a public key.`,
          ]
        : []),
      '',
      '`server.py` answers only requests that the carrier has signed with the token of your account. The signature covers the',
      'URL: behind a proxy that changes it and does not send `X-Forwarded-Proto` and `X-Forwarded-Host`, set `WEBHOOK_URL`.',
    ].join('\n'),
  ];
}

function xml(...lines: readonly string[]): readonly string[] {
  return ['```xml', ...lines, '```'].map((line) => `   ${line}`);
}
