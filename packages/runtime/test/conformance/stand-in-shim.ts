import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PYPROJECT = '[project]\nname = "stand-in"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = []\n';

/** Imports the bot like the host shim, and responds to every POST with the result of the bot's `report`. */
const MAIN = `import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer
import bot
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(bot.report()).encode())
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
HTTPServer((os.environ['BOT_HOST'], int(os.environ['PORT'])), Handler).serve_forever()
`;

/**
 * A package that replaces the host shim and needs no package index, so that Python bots can be tested without a network. The real
 * shim has its own tests.
 */
export async function writeStandInShim(directory: string): Promise<string> {
  await mkdir(join(directory, 'src/bothost_shim'), { recursive: true });
  await writeFile(join(directory, 'pyproject.toml'), PYPROJECT);
  await writeFile(join(directory, 'src/bothost_shim/__init__.py'), '');
  await writeFile(join(directory, 'src/bothost_shim/__main__.py'), MAIN);
  return directory;
}
