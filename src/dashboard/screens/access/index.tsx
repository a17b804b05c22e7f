import { useEffect } from 'preact/hooks';
import { Route, Router, useLocation } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { ApiKeyPage } from './api-key-detail.tsx';
import { ApiKeyList } from './api-key-list.tsx';
import { BotUserPage } from './bot-user-detail.tsx';
import { BotUserList } from './bot-user-list.tsx';
import { listPaths } from './navigation.ts';
import { NewApiKey } from './new-api-key.tsx';
import { NewBotUser } from './new-bot-user.tsx';
import { NewUser } from './new-user.tsx';
import { UserPage } from './user-detail.tsx';
import { UserList } from './user-list.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={ApiKeyList} />
      <Route path="/keys" component={RedirectToKeys} />
      <Route path="/keys/new" component={NewApiKey} />
      <Route path="/keys/:id" component={ApiKeyPage} />
      <Route path="/bots" component={BotUserList} />
      <Route path="/bots/new" component={NewBotUser} />
      <Route path="/bots/:id" component={BotUserPage} />
      <Route path="/users" component={UserList} />
      <Route path="/users/new" component={NewUser} />
      <Route path="/users/:id" component={UserPage} />
      <Route default component={NotFound} />
    </Router>
  );
}

/** The list of API keys is at the root of this screen. */
function RedirectToKeys() {
  const { route } = useLocation();
  useEffect(() => route(listPaths.keys, true), []);
  return null;
}
