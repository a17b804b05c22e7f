import { useEffect } from 'preact/hooks';
import { Route, Router, useLocation } from 'preact-iso/router';
import { BotUserList } from './bot-list.tsx';
import { NewBotUser } from './bot-new.tsx';
import { BotUserPage } from './bot-one.tsx';
import { ApiKeyList } from './key-list.tsx';
import { NewApiKey } from './key-new.tsx';
import { ApiKeyPage } from './key-one.tsx';
import { lists } from './places.ts';
import { UserList } from './user-list.tsx';
import { NewUser } from './user-new.tsx';
import { UserPage } from './user-one.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={ApiKeyList} />
      <Route path="/keys" component={ToKeys} />
      <Route path="/keys/new" component={NewApiKey} />
      <Route path="/keys/:id" component={ApiKeyPage} />
      <Route path="/bots" component={BotUserList} />
      <Route path="/bots/new" component={NewBotUser} />
      <Route path="/bots/:id" component={BotUserPage} />
      <Route path="/users" component={UserList} />
      <Route path="/users/new" component={NewUser} />
      <Route path="/users/:id" component={UserPage} />
    </Router>
  );
}

/** The list of API keys stands at the root. */
function ToKeys() {
  const { route } = useLocation();
  useEffect(() => route(lists.keys, true), []);
  return null;
}
