// A real OpenID Connect provider: node provider.mjs CONFIGURATION. Prints its issuer when it listens.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const { keys, clients } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    jwks: { keys },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    // The subject is what was typed as login.
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        name: `${id} of the provider`,
        email: `${id}@example.org`,
        email_verified: !id.startsWith('unverified'),
      }),
    }),
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
