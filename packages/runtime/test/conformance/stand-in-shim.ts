import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const pyprojectToml = '[project]\nname = "stand-in"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = []\n';

/** Imports the bot like the Python host shim, and responds to every POST with the result of the bot's `report`. */
const main = `import json, os
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingUnixStreamServer
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
assert 'PORT' not in os.environ
ThreadingUnixStreamServer(os.environ['BOT_SOCKET'], Handler).serve_forever()
`;

/**
 * Writes a package that replaces the Python host shim. The package has no requirements, so that Python bots can be tested
 * without a network.
 */
export async function writeStandInShim(directory: string): Promise<string> {
  await mkdir(join(directory, 'src/bothost_shim'), { recursive: true });
  await writeFile(join(directory, 'pyproject.toml'), pyprojectToml);
  await writeFile(join(directory, 'src/bothost_shim/__init__.py'), '');
  await writeFile(join(directory, 'src/bothost_shim/__main__.py'), main);
  return directory;
}
