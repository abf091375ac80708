type Json = { readonly [key: string]: unknown };

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Renders the OpenAPI document as a page without scripts. */
export function referencePage(document: Json): string {
  const paths = Object.entries(document['paths'] as Record<string, Json>);
  const entries = paths.filter(([path]) => !path.includes('/organizations/{organization}'));
  const sections = entries.flatMap(([path, entry]) =>
    methods.filter((method) => method in entry).map((method) => section(path, method, entry[method] as Json)),
  );
  const schemas = Object.entries((document['components'] as Json)['schemas'] as Record<string, Json>);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API of the bot hosting service</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head><body><main>
<h1>API</h1><p>Private operations take a private key (<code>sk_</code>), public ones a public key (<code>pk_</code>), as
<code>Authorization: Bearer &lt;key&gt;</code>. Each private path also stands below
<code>/v1/organizations/{organization}</code>. The same as a document: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${sections.join('\n')}<h2>Shapes</h2>${schemas.map(([name, schema]) => shape(name, schema)).join('\n')}</main></body></html>`;
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}main{max-width:60rem;margin:auto;padding:1rem}
section{border-top:1px solid color-mix(in srgb,currentColor 25%,transparent);padding:.5rem 0}h3{font:600 1rem ui-monospace,monospace;overflow-wrap:anywhere}
b{display:inline-block;min-width:4rem}td,th{text-align:left;padding:.1rem .75rem .1rem 0;vertical-align:top}pre{overflow:auto}`;

function section(path: string, method: string, operation: Json): string {
  const parameters = (operation['parameters'] as Json[] | undefined) ?? [];
  const responses = Object.entries((operation['responses'] as Record<string, Json>) ?? {});
  return `<section><h3><b>${method.toUpperCase()}</b> ${escapeHtml(path)}</h3><p>${escapeHtml(String(operation['summary']))}</p>
<table>${parameters.map(parameterRow).join('')}</table>${bodyOf(operation)}
<table>${responses.map(([status, response]) => responseRow(status, response)).join('')}</table></section>`;
}

function parameterRow(parameter: Json): string {
  const schema = parameter['schema'] as Json;
  const about = [
    parameter['description'],
    schema['enum'] === undefined ? typeOf(schema) : JSON.stringify(schema['enum']),
  ];
  return `<tr><td><code>${escapeHtml(String(parameter['name']))}</code></td><td>${escapeHtml(String(parameter['in']))}</td><td>${escapeHtml(about.filter(Boolean).join('; '))}</td></tr>`;
}

function bodyOf(operation: Json): string {
  const content = (operation['requestBody'] as Json | undefined)?.['content'] as Json | undefined;
  const schema = (content?.['application/json'] as Json | undefined)?.['schema'];
  return schema === undefined
    ? ''
    : `<details><summary>Body</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`;
}

function responseRow(status: string, response: Json): string {
  const schema = ((response['content'] as Json | undefined)?.['application/json'] as Json | undefined)?.['schema'] as
    | Json
    | undefined;
  return `<tr><td><code>${status}</code></td><td>${escapeHtml(String(response['description']))}</td><td>${escapeHtml(schema === undefined ? '' : typeOf(schema))}</td></tr>`;
}

function shape(name: string, schema: Json): string {
  return `<section id="${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3><details><summary>Schema</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details></section>`;
}

function typeOf(schema: Json): string {
  const reference = schema['$ref'];
  return typeof reference === 'string' ? (reference.split('/').at(-1) ?? '') : String(schema['type'] ?? '');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
